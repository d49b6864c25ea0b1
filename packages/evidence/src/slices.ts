/** Long work in slices, so that the caller can let other work run between two of them. */

/**
 * Work that yields after every millisecond or two, and ends with its result.
 *
 * It holds no lock and touches nothing shared: who stops asking drops it.
 */
export type Slices<A> = Generator<void, A, void>

/** Runs sliced work to its end without yielding. */
export const inOneGo = <A>(work: Slices<A>): A => {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
