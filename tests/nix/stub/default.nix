# `import nixpkgs { … }`: every package is a derivation that would build nothing; unfree ones are refused as nixpkgs does.
{
  system,
  config ? { },
}:
let
  lib = import ./lib.nix;
  made =
    attributes:
    derivation (
      {
        inherit system;
        builder = "/bin/sh";
        args = [
          "-c"
          "echo >$out"
        ];
      }
      // attributes
    );
  package = pname: version: made { name = "${pname}-${version}"; } // { inherit pname version; };
  unfree =
    pname: version:
    let
      found = package pname version;
    in
    if (config.allowUnfreePredicate or (_: false)) found then found else throw "${pname} has an unfree license";
  free = builtins.mapAttrs package {
    bubblewrap = "0.11.0";
    cargo = "1.95.0";
    chromium = "140.0";
    git = "2.53.0";
    nixfmt = "1.2.0";
    nixfmt-tree = "1.2.0";
    python311 = "3.11.15";
    python312 = "3.12.13";
    rustc = "1.95.0";
    shellcheck = "0.11.0";
    util-linux = "2.42";
    uv = "0.11.0";
    zlib = "1.3.2";
  };
in
free
// {
  inherit lib system;
  stdenv = {
    cc = package "gcc-wrapper" "15.2.0" // {
      cc.lib = package "gcc-lib" "15.2.0";
    };
    hostPlatform.isAarch64 = system == "aarch64-linux";
  };
  addDriverRunpath.driverLink = "/run/opengl-driver";
  cudaPackages_12_9 = builtins.mapAttrs unfree {
    cuda_nvcc = "12.9.86";
    cuda_cudart = "12.9.79";
    cuda_cccl = "12.9.27";
  };
  mkShell = { packages, ... }@attributes: made (attributes // { name = "nix-shell"; });
  runCommand = name: attributes: buildCommand: made (attributes // { inherit name buildCommand; });
  writeShellApplication =
    {
      name,
      runtimeInputs,
      text,
    }:
    made { inherit name runtimeInputs text; } // { meta.mainProgram = name; };
}
