class HloLsp < Formula
  include Language::Python::Virtualenv

  desc "@description@"
  homepage "@repository@"
  url "https://files.pythonhosted.org/packages/source/h/hlo-lsp/@sdist@"
  sha256 "@sha256@"
  license "@license@"

  depends_on "python@3.13"

  # `brew update-python-resources hlo-lsp` writes the resources here.

  def install
    virtualenv_install_with_resources
  end

  test do
    (testpath/"m.hlo").write <<~HLO
      HloModule m

      ENTRY main {
        ROOT a = f32[8] negate(b)
      }
    HLO
    assert_match "undefined-instruction", shell_output("#{bin}/hlo-lsp check m.hlo", 1)
  end
end
