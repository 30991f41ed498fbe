{
  description = "Tiebreak: reward-shape studies of reinforcement learning with verifiable rewards";

  # Its rustc is the pinned 1.95.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { nixpkgs, ... }:
    let
      systems = [ "x86_64-linux" ]; # the one that requirements/project.txt has wheels for
      shell =
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          python = pkgs.python311; # the version that requirements/project.txt is compiled for
        in
        pkgs.mkShell {
          packages = [
            python
            pkgs.cargo
            pkgs.rustc
            pkgs.bubblewrap
            pkgs.git
            pkgs.util-linux # prlimit
          ];
          # what the wheels expect of the system; their other libraries are inside them
          LD_LIBRARY_PATH = pkgs.lib.makeLibraryPath [
            pkgs.stdenv.cc.cc.lib
            pkgs.zlib
          ];
          TIEBREAK_PYTHON = "${python}/bin/python3.11";
          TIEBREAK_VENV = ".venv-nix"; # beside the one of `./dev` outside, which another C library made
          shellHook = ''
            export TIEBREAK_SHELL=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
            "$TIEBREAK_SHELL/dev" --sync || exit
            eval "$("$TIEBREAK_SHELL/dev" --env)"
          '';
        };
    in
    {
      devShells = nixpkgs.lib.genAttrs systems (system: {
        default = shell system;
      });
    };
}
