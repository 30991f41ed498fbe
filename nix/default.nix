# The dev shells, and the app that is `./dev` with the same tools, from one nixpkgs. Versions are pyproject.toml's.
{ pkgs }:
let
  inherit (pkgs) lib;
  pinned = (builtins.fromTOML (builtins.readFile ../pyproject.toml)).tool.tiebreak;
  without = dot: builtins.replaceStrings [ "." ] [ dot ];
  held =
    name: package:
    if lib.versions.majorMinor package.version == pinned.${name} then
      package
    else
      throw "nixpkgs has ${name} ${package.version}, and pyproject.toml pins ${pinned.${name}}";

  python = held "python" pkgs."python${without "" pinned.python}";
  cuda = pkgs."cudaPackages_${without "_" pinned.cuda}";
  tools = [
    python
    (held "rust" pkgs.rustc)
    pkgs.cargo
    pkgs.bubblewrap
    pkgs.git
    pkgs.util-linux # prlimit
  ];
  forTests = [
    pkgs.chromium
    pkgs.shellcheck
  ];

  # What wheels expect of the system; their other libraries are inside them, CUDA's too, and must not meet Nix's.
  libraries = [
    pkgs.stdenv.cc.cc.lib
    pkgs.zlib
  ];
  driver = "${pkgs.addDriverRunpath.driverLink}/lib"; # where NixOS keeps NVIDIA's libraries
  environment = {
    LD_LIBRARY_PATH = lib.makeLibraryPath libraries;
    TIEBREAK_PYTHON = "${python}/bin/python${pinned.python}";
    TIEBREAK_VENV = ".venv-nix"; # beside that of `./dev` outside, which another C library made
  }
  // lib.optionalAttrs pkgs.stdenv.hostPlatform.isAarch64 {
    TIEBREAK_TORCH = "cuda"; # the lock has no CPU build of torch for this machine
  };
  environmentGpu = environment // {
    LD_LIBRARY_PATH = "${driver}:${environment.LD_LIBRARY_PATH}"; # the driver's come first
    TIEBREAK_VENV = ".venv-nix-cuda";
    TIEBREAK_TORCH = "cuda";
    TIEBREAK_DRIVER = driver;
    TRITON_LIBCUDA_PATH = driver;
    CUDA_HOME = "${lib.getBin cuda.cuda_nvcc}";
    # prime-rl's environment, which uv makes, has a Python of its own
    UV_PYTHON = "${pkgs.python312}/bin/python3.12";
    UV_PYTHON_DOWNLOADS = "never";
    UV_NO_SYNC = "1";
  };
  forGpus = [
    pkgs.uv
    pkgs.python312
    (held "cuda" cuda.cuda_nvcc)
    cuda.cuda_cudart
    cuda.cuda_cccl
  ];

  enter = ''
    export TIEBREAK_SHELL=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
    "$TIEBREAK_SHELL/dev" --sync || exit
    eval "$("$TIEBREAK_SHELL/dev" --env)"
  '';
  enterGpu = ''
    eval "$("$(git rev-parse --show-toplevel 2>/dev/null || pwd)/nix/driver.sh")"
    ${enter}
  '';
  exports = lib.concatStrings (
    lib.mapAttrsToList (name: value: "export ${name}=${lib.escapeShellArg value}\n") environment
  );
  app = pkgs.writeShellApplication {
    name = "tiebreak-dev";
    runtimeInputs = tools ++ [ pkgs.stdenv.cc ];
    text = ''
      root=$(git rev-parse --show-toplevel 2>/dev/null || pwd)
      if [ ! -x "$root/dev" ]; then
        echo "$root is no checkout of Tiebreak: clone it, and call 'nix run . -- COMMAND' in it" >&2
        exit 2
      fi
      ${exports}exec "$root/dev" "$@"
    '';
  };
in
{
  devShells = {
    default = pkgs.mkShell (
      environment
      // {
        packages = tools ++ forTests;
        shellHook = enter;
      }
    );
    gpu = pkgs.mkShell (
      environmentGpu
      // {
        packages = tools ++ forTests ++ forGpus;
        shellHook = enterGpu;
      }
    );
  };
  apps.default = {
    type = "app";
    program = lib.getExe app;
  };
  checks = import ./checks.nix { inherit pkgs pinned tools; };
  formatter = pkgs.nixfmt-tree;
}
