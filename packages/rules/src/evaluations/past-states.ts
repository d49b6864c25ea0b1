/** Past states of entities, by the record that made each: for verdicts given as of an earlier record. */

/** States of one entity that are kept. Of an entity that changed more often the older states are unknown. */
const MAX_STATES = 1_000

/** States by id. */
export class History<T> {
  readonly #byId = new Map<string, Array<{ readonly seq: number; readonly state: T }>>()
  readonly #cut = new Set<string>()

  /** Notes the state of an entity from a record on. Records come in order. */
  add(id: string, seq: number, state: T): void {
    const states = this.#byId.get(id)
    if (states === undefined) return void this.#byId.set(id, [{ seq, state }])
    if (states.at(-1)!.seq === seq) states.pop()
    states.push({ seq, state })
    if (states.length <= MAX_STATES) return
    states.shift()
    this.#cut.add(id)
  }

  /** The records from the one that made a state of an entity, that one included; null where not all are known. */
  since(id: string, seq: number): ReadonlyArray<number> | null {
    if (this.at(id, seq) === undefined) return null
    return [seq, ...(this.#byId.get(id) ?? []).flatMap((one) => (one.seq > seq ? [one.seq] : []))]
  }

  /** The state after a record; null where there was none, undefined where it is unknown. */
  at(id: string, seq: number): T | null | undefined {
    const states = this.#byId.get(id) ?? []
    for (let place = states.length - 1; place >= 0; place--) {
      const { seq: since, state } = states[place]!
      if (since <= seq) return state
    }
    return this.#cut.has(id) ? undefined : null
  }
}
