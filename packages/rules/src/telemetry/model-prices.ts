/** The prices of models as the records before give them: what a token costs at one place of the chain. */
import { namesOfModel } from "../models/names.ts"
import type { Json, JsonMap, ReplayRecord } from "../records/record.ts"

/** Price of a model's tokens. Unit: millionths of a US dollar for a million tokens. Null: no price is known. */
export interface TokenPrice {
  readonly input: number | null
  readonly output: number | null
}

/** Kinds of records that give prices. */
export const priceKinds = ["model.registered", "model.updated"] as const

interface Priced extends TokenPrice {
  readonly names: ReadonlyArray<string>
}

const NO_PRICE: TokenPrice = { input: null, output: null }

/** The prices in force. */
export class ModelPrices {
  readonly #models = new Map<string, Priced>()
  readonly #byName = new Map<string, Set<string>>()

  /** `json`: what {@link toJson} gave. */
  constructor(json: Json = []) {
    for (const [id, input, output, names] of json as ReadonlyArray<
      readonly [string, number | null, number | null, ReadonlyArray<string>]
    >)
      this.#put(id, { input, output, names })
  }

  /** Takes a record of {@link priceKinds}. */
  take({ body }: Pick<ReplayRecord, "body">): void {
    const id = String(body["model_id"])
    const price = (body["price"] ?? {}) as JsonMap
    const names = namesOfModel(id, {
      provider: String(body["provider"]),
      name: String(body["name"]),
      version: typeof body["version"] === "string" ? body["version"] : null
    })
    const of = (member: string): number | null => {
      const value = price[member]
      return typeof value === "number" ? value : null
    }
    for (const one of this.#models.get(id)?.names ?? []) this.#byName.get(one)?.delete(id)
    this.#put(id, { input: of("input_micro_usd_per_mtok"), output: of("output_micro_usd_per_mtok"), names })
  }

  /**
   * The price of the model that a decision names: by its id, `name`, `provider/name`, or either with `@version`. No
   * price where the name fits several models whose prices differ: nothing is guessed.
   */
  of(named: string): TokenPrice {
    const found = [...(this.#byName.get(named) ?? [])].map((id) => this.#models.get(id)!)
    const [first, ...others] = found
    if (first === undefined) return NO_PRICE
    return others.every(({ input, output }) => input === first.input && output === first.output) ? first : NO_PRICE
  }

  /** As plain data. */
  toJson(): Json {
    return [...this.#models].map(([id, { input, names, output }]) => [id, input, output, names])
  }

  #put(id: string, model: Priced): void {
    this.#models.set(id, model)
    for (const name of model.names) {
      const ids = this.#byName.get(name)
      if (ids === undefined) this.#byName.set(name, new Set([id]))
      else ids.add(id)
    }
  }
}
