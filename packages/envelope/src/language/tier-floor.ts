/**
 * The most that an autonomy tier allows an agent, expressed as an ordinary envelope: layer 0 of every combination.
 *
 * Spec: `SPEC.md` section 10.
 */
import type { Outcome } from "./compiled.ts"
import {
  type Condition,
  type EffectClass,
  effectClasses,
  type Envelope,
  type Rule,
  SEMANTICS,
  type Signal
} from "./envelope.ts"

/** By class: outcomes at L0 to L4. No row rises from left to right, no column falls from top to bottom. */
export const tierFloorTable: { readonly [C in EffectClass]: readonly [Outcome, Outcome, Outcome, Outcome, Outcome] } = {
  read: ["allow", "allow", "allow", "allow", "allow"],
  write_reversible: ["deny", "require_review", "allow_with_notice", "allow", "allow"],
  external_message: ["deny", "require_review", "require_review", "allow_with_notice", "allow"],
  money: ["deny", "require_review", "require_review", "allow_with_notice", "allow_with_notice"],
  irreversible: ["deny", "deny", "require_review", "require_review", "allow_with_notice"]
}

/**
 * Name of the deciding rule when the tier floor decides; prefix of the ids of its rules. Spec: `envelope/1` sections 10
 * and 11, step 8.
 */
export const TIER_FLOOR = "@tier_floor"

/** The signal every combination has. */
const tier: Signal = {
  name: "tier",
  type: "int",
  source: "server",
  from: null,
  values: null,
  ordered: false,
  min: 0,
  max: 4,
  unit: null,
  optional: false,
  onMissing: null,
  setBy: null,
  form: null,
  base: null
}

/** Adds the tier floor to layers, ready to compile. Spec: `envelope/1` section 10. */
export const withTierFloor = (layers: ReadonlyArray<Envelope>): ReadonlyArray<Envelope> => [
  tierFloor(layers),
  ...layers
]

/** The gravest class that any of some layers gives a tool, as such or as `*`; irreversible where none gives it one. */
export const effectClassOf = (layers: ReadonlyArray<Envelope>, tool: string): EffectClass => {
  const grades = layers
    .flatMap((layer) => layer.effects.get(tool) ?? layer.effects.get("*") ?? [])
    .map((effect) => effectClasses.indexOf(effect))
  return grades.length === 0 ? "irreversible" : effectClasses[Math.max(...grades)]!
}

/**
 * The floor for the tools of some layers. A tool has the gravest class that any of them gives it, as such or as `*`;
 * none, or an absent tool, counts as irreversible.
 */
export const tierFloor = (layers: ReadonlyArray<Envelope>): Envelope => {
  const declared = layers.flatMap((layer) => layer.signals).filter((signal) => signal.name === "tool")
  const tool = declared.at(-1)
  const mayBeAbsent = declared.every(({ optional }) => optional)
  const rules = effectClasses.flatMap((effect) => {
    const tools = (tool?.values ?? ["*"]).filter((name) => effectClassOf(layers, name) === effect)
    const alternatives: ReadonlyArray<Condition> =
      tool === undefined
        ? []
        : [
            ...(tools.length > 0
              ? [
                  {
                    kind: "test",
                    name: "tool",
                    test: { op: "in", values: tools.map((value) => ({ value, param: null })) }
                  } as const
                ]
              : []),
            ...(mayBeAbsent && effect === "irreversible"
              ? [{ kind: "test", name: "tool", test: { op: "present", value: false } } as const]
              : [])
          ]
    const concerned = tool === undefined ? tools.length > 0 : alternatives.length > 0
    return concerned ? floorRules(effect, alternatives) : []
  })
  return {
    semantics: SEMANTICS,
    envelopeId: null,
    version: null,
    name: null,
    scope: null,
    signals: tool === undefined ? [tier] : [tier, tool],
    derived: [],
    params: [],
    meters: [],
    rules,
    effects: new Map(),
    otherwise: null,
    coverage: "allow_uncovered",
    acceptNonMonotone: null,
    onUnavailable: "deny"
  }
}

/** One rule for each outcome above allow, over the tiers that have it, which are neighbours. */
const floorRules = (effect: EffectClass, alternatives: ReadonlyArray<Condition>): ReadonlyArray<Rule> => {
  const row = tierFloorTable[effect]
  return [...new Set(row)]
    .filter((outcome) => outcome !== "allow")
    .map((outcome) => {
      const between = {
        op: "between",
        from: { value: row.indexOf(outcome), param: null },
        to: { value: row.lastIndexOf(outcome), param: null }
      } as const
      const tiers: Condition = { kind: "test", name: "tier", test: between }
      const tools: ReadonlyArray<Condition> =
        alternatives.length > 1 ? [{ kind: "any", of: alternatives }] : alternatives
      return {
        id: `${TIER_FLOOR}:${effect}:${outcome}`,
        outcome,
        reason: null,
        when: [...tools, tiers],
        unless: [],
        obligations: [],
        noticeMs: null,
        retryAfterMs: null,
        suggestion: null
      }
    })
}
