/**
 * Tracks, for the one process that writes a file, whether its outbox has anything to claim.
 *
 * Nearly all commits with an event leave nothing to send, since no endpoint wants its type; and after each the engine
 * claims. The file has a single writer, and all writes go through here: once a claim found no unfinished delivery,
 * there is none until a commit leaves one. See docs/what-is-fast.md.
 */
export class OutboxTracker {
  #empty = false
  /** Counts what may have left a delivery. */
  #generation = 0

  /** True when every delivery is surely finished. */
  get isEmpty(): boolean {
    return this.#empty
  }

  /** Before a claim begins; pass the answer to {@link foundNothing}. */
  generation(): number {
    return this.#generation
  }

  /**
   * A claim found nothing that is due or will be. That stands unless a commit ended meanwhile that may have left
   * something.
   */
  foundNothing(generation: number): void {
    if (generation === this.#generation) this.#empty = true
  }

  /** Something may have been left: by a commit that said so, or by one of which nobody knows how it went. */
  mayHaveDeliveries(): void {
    this.#empty = false
    this.#generation += 1
  }
}
