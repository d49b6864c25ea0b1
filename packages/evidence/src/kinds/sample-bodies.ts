/** Bodies to try the catalogue on. For tests only. */
import type { MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"

/** Values at the bounds of a type, and values just past them. */
export const samples = (
  type: MemberType
): { readonly good: ReadonlyArray<unknown>; readonly bad: ReadonlyArray<unknown> } => {
  switch (type.type) {
    case "id":
      return {
        good: [type.prefix + tail],
        bad: [tail, `${type.prefix}8${tail.slice(1)}`, type.prefix, `${type.prefix}${tail}0`]
      }
    case "enum":
      return { good: type.values, bad: ["", "other value", type.values[0]!.toUpperCase() + "x"] }
    case "integer":
      return { good: [type.min, type.max], bad: [type.min - 1, type.max + 1, 0.5, "1", null] }
    case "boolean":
      return { good: [true, false], bad: ["true", 0, 1, []] }
    case "instant":
      return { good: ["2026-11-21T00:00:00.000Z"], bad: ["2026-11-21", "2026-02-30T00:00:00.000Z", 0] }
    case "hash":
      return { good: ["0a".repeat(32)], bad: ["0A".repeat(32), "0a".repeat(31), `sha256:${"0a".repeat(32)}`] }
    case "name":
      return {
        good: ["a", "tool/v1@host:8+x", "a".repeat(type.max)],
        bad: ["", "a b", "é", "a".repeat(type.max + 1), "a\n", "<b>"]
      }
    case "foreign_name":
      return {
        good: ["a", "Create CIFS Share", "获取_天气", "<b>", "é", "🦆".repeat(type.max)],
        bad: ["", " a", "a  b", "a\n", "a\u200bb", "\u202ea", "\ud83d", "🦆".repeat(type.max + 1)]
      }
    case "writer":
      return {
        good: [`key_${tail}`, `pky_${tail}`, `usr_${tail}`, "system:host"],
        bad: ["alice", "system:", "system:A", `agt_${tail}`]
      }
    case "origin":
      return { good: ["flyball.example/acme/prod"], bad: ["", "a b", "a+b", "é", "a".repeat(256)] }
    case "vkey":
      return {
        good: ["flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"],
        bad: ["flyball.example/acme/prod", "a+b", ""]
      }
    case "key_id":
      return { good: ["512011be"], bad: ["512011BE", "512011b", ""] }
    case "part_name":
      return { good: ["args", "a_1", `a${"b".repeat(31)}`], bad: ["", "1a", "A", `a${"b".repeat(32)}`] }
    case "list": {
      const item = samples(type.of)
      return {
        good: [[item.good[0]], new Array(type.max).fill(item.good[0])],
        bad: [...(type.min > 0 ? [[]] : []), "x", [item.bad[0]], new Array(type.max + 1).fill(item.good[0])]
      }
    }
    case "object":
      return {
        good: [bodyOf(type.members, false), bodyOf(type.members, true)],
        bad: [null, [], "x", { other: 1 }, { [type.members[0]!.name]: samples(type.members[0]!.type).bad[0] }]
      }
  }
}

/** A body in order, with its optional members or without. */
export const bodyOf = (members: ReadonlyArray<BodyMember>, optional: boolean): Record<string, unknown> =>
  Object.fromEntries(
    members.filter((member) => member.required || optional).map(({ name, type }) => [name, samples(type).good[0]])
  )

const tail = "0".repeat(26)
