;;; driver.el --- Runs the Lisp of one test in Emacs -*- lexical-binding: t -*-

;; $HLO_TEST_SCRIPT is the test's Lisp, $HLO_TEST_RESULT the JSON file to write: the value of the last
;; expression, or how it failed.

(package-activate-all) ; as Emacs does where it is no batch
(require 'json)
(require 'cl-lib)

(defvar hlo-test-patience
  (string-to-number (or (getenv "HLO_TEST_PATIENCE_SECONDS") "60"))
  "Seconds; only a broken client or server ever takes this long.")

(defun hlo-test-wait (what condition)
  "Wait until CONDITION, a function, returns something, and return that; WHAT is its name."
  (let ((until (+ (float-time) hlo-test-patience)) value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) until)
        (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))
    value))

(defun hlo-test-open (path)
  "Open PATH as a user does; the first command after it starts what was put off."
  (switch-to-buffer (find-file-noselect path))
  (run-hooks 'post-command-hook))

(defun hlo-test-go (text)
  "Move point to the first occurrence of TEXT."
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun hlo-test-line (number)
  "Put point at the beginning of the line of this NUMBER."
  (goto-char (point-min))
  (forward-line (1- number)))

(defun hlo-test-here ()
  "The text of the line with point."
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun hlo-test-run ()
  "Run the test, and write what came of it."
  (let ((outcome
         (condition-case problem
             (let (value)
               (with-temp-buffer
                 (insert-file-contents (getenv "HLO_TEST_SCRIPT"))
                 (goto-char (point-min))
                 (let ((script (current-buffer)) form)
                   (while (setq form (condition-case nil (read script) (end-of-file nil)))
                     (setq value (with-current-buffer (window-buffer) (eval form t))))))
               `((value . ,value)))
           (error `((failure . ,(format "%S" problem)))))))
    (with-temp-file (getenv "HLO_TEST_RESULT")
      (insert (json-serialize outcome :null-object nil)))))

(setq make-backup-files nil create-lockfiles nil enable-local-variables nil)
(hlo-test-run)
(let (kill-emacs-query-functions)
  (kill-emacs 0))
;;; driver.el ends here
