# The functions of nixpkgs' lib that our flake calls.
rec {
  genAttrs =
    names: make:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = make name;
      }) names
    );
  optionalAttrs = wanted: attributes: if wanted then attributes else { };
  mapAttrsToList = make: attributes: map (name: make name attributes.${name}) (builtins.attrNames attributes);
  concatStrings = builtins.concatStringsSep "";
  escapeShellArg = value: "'${builtins.replaceStrings [ "'" ] [ "'\\''" ] (toString value)}'";
  makeLibraryPath = packages: builtins.concatStringsSep ":" (map (package: "${package}/lib") packages);
  getName = package: package.pname;
  getBin = package: package;
  getExe = package: "${package}/bin/${package.meta.mainProgram}";
  versions.majorMinor = version: builtins.concatStringsSep "." (builtins.match "([0-9]+)\\.([0-9]+).*" version);
}
