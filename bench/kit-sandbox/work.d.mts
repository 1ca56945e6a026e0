export interface Work {
  readonly name: string;
}
export const work: readonly Work[];
export const shortWork: readonly Work[];
