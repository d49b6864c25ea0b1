/** The table of entities: where their members are stored, from the annotations of the contract. */
import * as contract from "@flyball/contract"
import { type Entity, type Place, placesOf, recordsOf } from "@flyball/contract"
import { Schema } from "effect"
import { code } from "./code.ts"

/** One line per entity. What is in a part can be withheld from a pack, and erased. */
export const entitiesTable = (): string =>
  ["| entity | body | parts | document | computed |", "|---|---|---|---|---|", ...entities.flatMap(rowOf)].join("\n")

/** Exports by name: the order of a namespace differs between loaders. */
const entities = Object.entries<unknown>(contract).toSorted(([a], [b]) => (a < b ? -1 : 1))

const rowOf = ([name, schema]: readonly [string, unknown]): ReadonlyArray<string> => {
  if (!isEntity(schema) || recordsOf(schema)?.as !== "entity") return []
  const places = [...placesOf(schema)].flatMap(([member, place]) => (place === null ? [] : [{ member, place }]))
  const namesIn = (where: Place["in"]): string =>
    code(places.flatMap(({ member, place }) => (place.in === where ? [member] : [])))
  return [
    `| ${code([name])} | ${namesIn("body")} | ${partsOf(places)} | ${namesIn("document")} | ${namesIn("computed")} |`
  ]
}

/** `owner: owner_name, owner_email; profile: name, …` */
const partsOf = (places: ReadonlyArray<{ readonly member: string; readonly place: Place }>): string => {
  const parts = new Map<string, Array<string>>()
  for (const { member, place } of places)
    if (place.in === "part") parts.set(place.part, [...(parts.get(place.part) ?? []), member])
  return [...parts]
    .map(([part, members]) =>
      members.length === 1 && members[0] === part ? code([part]) : `${code([part])}: ${code(members)}`
    )
    .join("; ")
}

const isEntity = (schema: unknown): schema is Entity => Schema.isSchema(schema) && "fields" in schema
