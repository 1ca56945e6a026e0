// The package ships no types; this is the part we use.

declare module "picomatch" {
  interface Options {
    dot?: boolean;
    basename?: boolean;
    noextglob?: boolean;
    windows?: boolean;
  }
  function picomatch(glob: string, options?: Options): (text: string) => boolean;
  namespace picomatch {
    function makeRe(glob: string, options?: Options): RegExp;
  }
  export = picomatch;
}
