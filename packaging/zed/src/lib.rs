use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Hlo;

impl zed::Extension for Hlo {
    fn new() -> Self {
        Hlo
    }

    fn language_server_command(&mut self, _: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let command = worktree.which("hlo-lsp").ok_or("hlo-lsp is not in PATH")?;
        Ok(Command { command, args: vec![], env: worktree.shell_env() })
    }
}

zed::register_extension!(Hlo);
