# What `nix flake check` builds. Tests need packages that Nix's sandbox cannot fetch: these are .ci/run's.
{
  pkgs,
  pinned,
  tools,
}:
let
  check =
    name: packages: script:
    pkgs.runCommand "tiebreak-${name}" { nativeBuildInputs = packages; } ''
      cp -r ${../.} source
      chmod -R u+w source
      cd source
      ${script}
      touch $out
    '';
in
{
  # The tools answer with the pinned versions, and make a program that runs.
  toolchain = check "toolchain" (tools ++ [ pkgs.stdenv.cc ]) ''
    python${pinned.python} --version | grep -F "Python ${pinned.python}."
    rustc --version | grep -F "rustc ${pinned.rust}."
    cargo --version | grep -F "cargo ${pinned.rust}."
    bwrap --version
    echo 'fn main() { println!("made") }' >made.rs
    rustc --edition 2021 made.rs
    ./made | grep -x made
  '';
  # Every module is Python of the pinned version.
  python = check "python" tools ''
    python${pinned.python} -m compileall -q src scripts requirements benchmarks tests
  '';
  shell = check "shell" [ pkgs.shellcheck ] ''
    shellcheck dev .ci/run nix/driver.sh
  '';
  format = check "format" [ pkgs.nixfmt ] ''
    nixfmt --check flake.nix nix/*.nix
  '';
}
