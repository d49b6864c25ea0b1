/** What the copier's thread is doing, as a number that it shares with the writer. */
export const copierState = { idle: 0, copying: 1, closing: 2, gone: 3 } as const
