/**
 * Where the value of a member is stored, as an annotation of the member's key.
 *
 * The catalogue in `@flyball/evidence` is the source of record bodies and parts. A test in core proves that the
 * annotations equal it, in both directions. Spec: house section 3, one source per entity.
 */
import { Schema } from "effect"

/** Where the value of a member is stored. Without `name`, the body or the part calls the member as the entity does. */
export type Place =
  /** In the body of a record: never erased. */
  | { readonly in: "body"; readonly name?: string }
  /** In an erasable part of a record: one member of it, or with `whole` all of it. */
  | { readonly in: "part"; readonly part: string; readonly name?: string; readonly whole?: true }
  /** In the document alone, or in the record around its body. */
  | { readonly in: "document" }
  /** Nowhere: it is computed for each answer. */
  | { readonly in: "computed" }

/** The records of a struct, as its annotation. */
export interface Records {
  /** `entity`: the members show what records say. `input`: the members become part of a record. */
  readonly as: "entity" | "input"
  /** Kinds of records in whose bodies and parts the members are. */
  readonly kinds: ReadonlyArray<string>
  /** Members of these bodies that an entity does not show. */
  readonly unshownBody: ReadonlyArray<string>
  /** Parts of these records that an entity does not show. */
  readonly unshownParts: ReadonlyArray<string>
}

const at = <S extends Schema.Top>(schema: S, place: Place): S["Rebuild"] => schema.annotateKey({ place })

/** A member of the body, which may call it otherwise. */
export const inBody = <S extends Schema.Top>(schema: S, name?: string): S["Rebuild"] =>
  at(schema, { in: "body", ...(name === undefined ? {} : { name }) })

/** A member of an erasable part, which may call it otherwise. */
export const inPart = <S extends Schema.Top>(part: string, schema: S, name?: string): S["Rebuild"] =>
  at(schema, { in: "part", part, ...(name === undefined ? {} : { name }) })

/** The whole of an erasable part. */
export const wholePart = <S extends Schema.Top>(part: string, schema: S): S["Rebuild"] =>
  at(schema, { in: "part", part, whole: true })

/** State of the document that no single body or part says. */
export const inDocument = <S extends Schema.Top>(schema: S): S["Rebuild"] => at(schema, { in: "document" })

/** Computed for each answer. */
export const computed = <S extends Schema.Top>(schema: S): S["Rebuild"] => at(schema, { in: "computed" })

/** A struct whose members say where they are stored, with its annotations. */
export interface Entity extends Schema.Top {
  readonly fields: Schema.Struct.Fields
}

/** The place of each member of an entity; null where the member has none. */
export const placesOf = (entity: Entity): ReadonlyMap<string, Place | null> =>
  new Map(
    Object.entries(entity.fields).map(([name, field]) => [
      name,
      (Schema.resolveAnnotationsKey(field)?.["place"] as Place | undefined) ?? null
    ])
  )

/** Annotates an entity with the records that it shows, and with the members that it does not show. */
export const showsRecords = (
  kinds: ReadonlyArray<string>,
  unshown: { readonly body?: ReadonlyArray<string>; readonly parts?: ReadonlyArray<string> } = {}
): { readonly records: Records } => ({
  records: { as: "entity", kinds, unshownBody: unshown.body ?? [], unshownParts: unshown.parts ?? [] }
})

/** Annotates an input with the kind of the record that it becomes. The service adds the rest of the body. */
export const becomesRecord = (kind: string): { readonly records: Records } => ({
  records: { as: "input", kinds: [kind], unshownBody: [], unshownParts: [] }
})

/** The records of a struct; null where it names none. */
export const recordsOf = (entity: Schema.Top): Records | null =>
  (Schema.resolveAnnotations(entity)?.["records"] as Records | undefined) ?? null

/** Names of the members of an entity that are stored in the body, and in `part` where one is given. */
export const membersIn = (entity: Entity, place: "body" | { readonly part: string }): ReadonlyArray<string> =>
  [...placesOf(entity)].flatMap(([name, found]) =>
    found !== null && (place === "body" ? found.in === "body" : found.in === "part" && found.part === place.part)
      ? [name]
      : []
  )
