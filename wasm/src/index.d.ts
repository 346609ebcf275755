/** One vector a passage, one after another. */
export interface PassageVectors {
    dimension: number;
    passages: Uint32Array;
    values: Float32Array;
}
