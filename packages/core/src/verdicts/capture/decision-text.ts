/** The RFC 8785 text of what a caller says of a decision outside its parts: what its digest is made over. */
import { DecisionIn, membersIn } from "@flyball/contract"
import type { JsonObject, JsonValue } from "../../storage/port.ts"

/** Members of the body that the service adds to what a caller says. */
const added = ["agent_id", "agent_status", "writer"] as const

/** Members of the body that a caller says, in the order of their names. */
const said = membersIn(DecisionIn, "body").toSorted()

/** Members of the body in the order of their names. */
export const bodyMembers: ReadonlyArray<string> = [...said, ...added].toSorted()

/** Members with the text before their values. */
const named = (names: ReadonlyArray<string>) => names.map((name) => ({ name, before: `,"${name}":` }))
const first = named(said.filter((name) => name < added[0]))
const middle = named(said.filter((name) => name > added[1] && name < added[2]))
const last = named(said.filter((name) => name > added[2]))

/** The members of a record's body that say who wrote it and about whom, as text with their commas. */
export interface FrameText {
  readonly agent: string
  readonly writer: string
}

/** The frame's members where they stand in the order of names. */
export const frameText = (agentId: string, agentStatus: string, writer: string): FrameText => ({
  agent: `,"agent_id":${quote(agentId)},"agent_status":${quote(agentStatus)}`,
  writer: `,"writer":${quote(writer)}`
})

/**
 * `said`: the members that are not null, in the order of their names. `body`: the same with the frame's among them,
 * which is the record's body.
 *
 * Written member by member: that takes half of the time of an object made for `JSON.stringify`. A test holds both
 * against the generic form.
 */
export const decisionText = (
  decision: DecisionIn,
  usage: JsonObject | null,
  frame: FrameText
): { readonly said: string; readonly body: string } => {
  const head = `{${textOf(first, decision, usage).slice(1)}`
  const tail = `${textOf(last, decision, usage)}}`
  const said = head + textOf(middle, decision, usage) + tail
  // Cut out of it, which puts its many pieces together now: later, when a thousand decisions have gone by, they are in
  // no near cache any more.
  return {
    said,
    body: said.slice(0, head.length) + frame.agent + said.slice(head.length, -tail.length) + frame.writer + tail
  }
}

/** What a decision says of a member; its usage in canonical order. */
export const valueOf = (decision: DecisionIn, usage: JsonObject | null, name: string): JsonValue | undefined =>
  name === "usage" ? usage : (decision as { readonly [member: string]: JsonValue | undefined })[name]

const textOf = (
  members: ReadonlyArray<{ readonly name: string; readonly before: string }>,
  decision: DecisionIn,
  usage: JsonObject | null
): string => {
  let text = ""
  for (let index = 0; index < members.length; index++) {
    const { before, name } = members[index]!
    const value = valueOf(decision, usage, name)
    if (value !== null && value !== undefined)
      text += before + (typeof value === "string" ? quote(value) : JSON.stringify(value))
  }
  return text
}

/** Nothing in it needs an escape. */
const plain = /^[A-Za-z0-9 ._:/@+-]*$/
const quote = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))
