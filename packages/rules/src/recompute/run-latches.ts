/**
 * Which latches are set in which run of which agent. A latch lasts as long as its run, and no record ends a run: this
 * grows with runs that have any, and with nothing else.
 */

/** Different sets that are shared. */
const MAX_SHARED = 10_000

/** Folds what evaluations set. */
export class RunLatches {
  /** By agent, then run. Runs have the same few sets: each is kept once. */
  readonly #runs = new Map<string, Map<string, ReadonlySet<string>>>()
  readonly #shared = new Map<string, ReadonlySet<string>>()

  /** The latches that are set in a run. */
  of(agentId: string, runId: string): ReadonlySet<string> {
    return this.#runs.get(agentId)?.get(runId) ?? none
  }

  add(agentId: string, runId: string, names: ReadonlyArray<string>): void {
    const before = this.of(agentId, runId)
    if (names.every((name) => before.has(name))) return
    const runs = this.#runs.get(agentId) ?? new Map<string, ReadonlySet<string>>()
    this.#runs.set(agentId, runs.set(runId, this.#share([...new Set([...before, ...names])].sort())))
  }

  #share(names: ReadonlyArray<string>): ReadonlySet<string> {
    // Names have no spaces.
    const key = names.join(" ")
    const known = this.#shared.get(key)
    if (known !== undefined) return known
    if (this.#shared.size >= MAX_SHARED) this.#shared.clear()
    const made = new Set(names)
    this.#shared.set(key, made)
    return made
  }
}

const none: ReadonlySet<string> = new Set()
