{
  description = "Tiebreak: reward-shape studies of reinforcement learning with verifiable rewards";

  # Its rustc is the pinned 1.95, its Python 3.11 and its CUDA 12.9 are there; nix/default.nix refuses others.
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { nixpkgs, ... }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      # NVIDIA's compiler is free of charge and not free software; only the gpu shell has it.
      isCuda = package: builtins.match "cuda_.*" (nixpkgs.lib.getName package) != null;
      partsFor =
        system:
        import ./nix {
          pkgs = import nixpkgs {
            inherit system;
            config.allowUnfreePredicate = isCuda;
          };
        };
      each = part: nixpkgs.lib.genAttrs systems (system: (partsFor system).${part});
    in
    {
      devShells = each "devShells";
      checks = each "checks";
      apps = each "apps";
      formatter = each "formatter";
    };
}
