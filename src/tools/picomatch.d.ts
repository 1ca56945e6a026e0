// The package ships no types; this is the part we use.

declare module "picomatch" {
  function picomatch(
    glob: string,
    options?: { dot?: boolean; basename?: boolean; noextglob?: boolean },
  ): (text: string) => boolean;
  export = picomatch;
}
