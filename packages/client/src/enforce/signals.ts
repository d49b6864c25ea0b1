/** The signals of an action: those that a host states, or those that are taken from arguments. */
import { REDACTED, type Redact, redactSafely } from "../redact.ts"
import type { Json } from "../wire.ts"

/** Signals by name. */
export interface Signals {
  readonly [name: string]: Json
}

/**
 * Option `signals` of a client: a function that states them, or the names of the arguments that may be sent beside the
 * tool's name. Left out, any text, number or boolean may.
 */
export type SignalsOption = ReadonlyArray<string> | ((action: string, args: Json) => Signals)

/** The signals of an action. `isStated`: the host names them, so all of them are sent. */
export interface ActionSignals {
  readonly signals: Signals
  readonly isStated: boolean
}

/** Reads the signals of actions as the option says. Redacted arguments are none. */
export const signalsReader =
  (option: SignalsOption | undefined, redact: Redact) =>
  (action: string, args: Json): ActionSignals => {
    if (typeof option === "function") return { signals: option(action, args), isStated: true }
    const shown = redactSafely(redact, args)
    const given = typeof shown === "object" && shown !== null && !Array.isArray(shown) ? Object.entries(shown) : []
    const scalars = given.filter(([name, value]) => (option?.includes(name) ?? true) && isSignal(value))
    // Last: an argument of that name says nothing of the tool.
    return { signals: { ...Object.fromEntries(scalars), tool: action }, isStated: false }
  }

const isSignal = (value: Json): boolean => typeof value !== "object" && value !== REDACTED

/** The signals that an envelope declares. */
export const declaredOf = (signals: Signals, names: ReadonlySet<string>): Signals =>
  Object.fromEntries(Object.entries(signals).filter(([name]) => names.has(name)))
