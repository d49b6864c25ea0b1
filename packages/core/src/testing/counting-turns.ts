/** Counts turns of the event loop while `body` runs; `turn` answers how many there were so far. */
export const countingTurns = async (body: (turn: () => number) => Promise<void>): Promise<void> => {
  let turn = 0
  let ended = false
  const next = (): void => {
    turn++
    if (!ended) setImmediate(next)
  }
  setImmediate(next)
  try {
    await body(() => turn)
  } finally {
    ended = true
  }
}
