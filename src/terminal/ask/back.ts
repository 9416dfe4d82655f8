// The answer that takes a question back.

/** The person wants the question before this one again. */
export const back = Symbol('back');
export type Back = typeof back;
