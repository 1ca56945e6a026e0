// One thing that can be said about an installation: it is fine, or how to mend it.

export interface Finding {
  readonly name: string;
  readonly isOk: boolean;
  readonly text: string;
  readonly mend?: string;
}
