/** Leases in memory. With one process there is one holder at most times; the rules are the same all the same. */

/** Holders of leases and their ends. */
export class LeaseTable {
  readonly #leases = new Map<string, { readonly holder: string; readonly untilMs: number }>()

  /**
   * Takes or renews; false while another holder's runs. A lease has run out at `untilMs` itself, or when the clock
   * stepped back since it was taken.
   */
  take(name: string, holder: string, nowMs: number, ttlMs: number): boolean {
    const lease = this.#leases.get(name)
    if (lease !== undefined && lease.holder !== holder && nowMs < lease.untilMs && lease.untilMs <= nowMs + 2 * ttlMs)
      return false
    this.#leases.set(name, { holder, untilMs: nowMs + ttlMs })
    return true
  }

  /** Gives it back; nothing happens where somebody else holds it. */
  release(name: string, holder: string): void {
    if (this.#leases.get(name)?.holder === holder) this.#leases.delete(name)
  }
}
