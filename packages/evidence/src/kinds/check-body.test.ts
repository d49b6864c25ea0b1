/** The compiled test of a row and the sentence about a body read the same row: they agree on every broken body. */
import { describe, expect, it } from "vitest"
import { recordKinds } from "./catalogue.ts"
import { checkBody } from "./check-body.ts"
import type { MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"
import { samples } from "./sample-bodies.ts"

type Body = { readonly [name: string]: unknown }

/** A body with every member at every depth; lists of objects have two items, where they may. */
const fullBody = (members: ReadonlyArray<BodyMember>): Body =>
  Object.fromEntries(members.map(({ name, type }) => [name, fullValue(type)]))

const fullValue = (type: MemberType): unknown => {
  if (type.type === "object") return fullBody(type.members)
  if (type.type === "list" && type.of.type === "object")
    return new Array(Math.min(2, type.max)).fill(fullBody(type.of.members))
  return samples(type).good[0]
}

/** Every way to break a body in one place, and the sentence that names the place. */
function* broken(members: ReadonlyArray<BodyMember>, body: Body, what: string): Generator<readonly [string, unknown]> {
  yield [`${what} has a member that the catalogue does not name.`, { ...body, "a note": "x" }]
  for (const no of [null, [], "x"]) yield [`${what} is not an object.`, no]
  for (const { name, required, type } of members) {
    const { [name]: own, ...rest } = body
    if (required) yield [`${what} lacks ${name}.`, rest]
    const outOfBounds = `${what} has a ${name} out of its bounds.`
    if (type.type === "object") {
      for (const [sentence, inner] of broken(type.members, own as Body, `${what}, ${name},`))
        yield [sentence, { ...body, [name]: inner }]
    } else if (type.type === "list" && type.of.type === "object") {
      const items = own as ReadonlyArray<Body>
      for (const [sentence, inner] of broken(type.of.members, items[0]!, `${what}, ${name},`))
        yield [sentence, { ...body, [name]: [...items.slice(1), inner] }]
      for (const no of ["x", {}, new Array(type.max + 1).fill(items[0]), ...(type.min > 0 ? [[]] : [])])
        yield [outOfBounds, { ...body, [name]: no }]
    } else {
      for (const no of [...samples(type).bad, undefined, null, {}]) yield [outOfBounds, { ...body, [name]: no }]
    }
  }
}

/** The same with the members of every object in reverse. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)])
  )
}

describe("what is said of a body", () => {
  it.each(recordKinds.map(({ body, kind }) => [kind, body] as const))(
    "%s: nothing of a body as the row says, and of a broken one where it is broken",
    (kind, members) => {
      const body = fullBody(members)
      expect([checkBody(kind, body), checkBody(kind, reversed(body))]).toEqual([null, null])
      for (const [sentence, value] of broken(members, body, `The body of ${kind}`))
        expect([value, checkBody(kind, value), checkBody(kind, reversed(value))]).toEqual([value, sentence, sentence])
    }
  )
})
