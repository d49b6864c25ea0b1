/**
 * The other engines over the same rules. They are installed apart (`npm ci` in this folder), so each is searched for on
 * use.
 */
import { existsSync } from "node:fs"
import type { Combination } from "../../packages/envelope/src/compile/compile.ts"
import { engine as bufbuildCel } from "./bufbuild-cel.ts"
import { engine as casbin } from "./casbin.ts"
import { engine as cedar } from "./cedar.ts"
import { engine as jsonLogic } from "./json-logic.ts"
import { engine as jsonRulesEngine } from "./json-rules-engine.ts"
import { engine as marcbachmannCel } from "./marcbachmann-cel.ts"

/** Signals by name, those of the server among them; an absent one is not there. */
export interface Signals {
  readonly [name: string]: string | number | boolean
}

/** Which rule decides (`@default`: none) and what it says. */
export interface Answer {
  readonly outcome: string
  readonly rule: string
}

/**
 * Rules made ready in an engine. Brings signals into its form, which is not timed; what it answers then asks, as often
 * as it is called.
 */
export type Loaded = (signals: Signals) => () => Answer | Promise<Answer>

/** An engine: what it does for an answer, and how rules get into it. */
export interface Engine {
  readonly name: string
  readonly does: string
  readonly load: (combination: Combination, json: unknown) => Promise<Loaded>
}

/** All of them. */
export const engines: ReadonlyArray<Engine> = [marcbachmannCel, jsonLogic, bufbuildCel, casbin, cedar, jsonRulesEngine]

/** True when they are installed. */
export const areInstalled = (): boolean => existsSync(new URL("node_modules/.package-lock.json", import.meta.url))

/** Hint for the case that the other engines are not installed. */
export const howToInstall =
  "the other engines are not installed; npm ci in benchmarks/envelopes-rivals does that, and then they are " +
  "compared in the same run"
