/** Three numbers, one for each axis; what they mean, their place says. */
export interface Vector {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}
