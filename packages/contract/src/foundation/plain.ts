/**
 * Types of the embedding API, derived from the structs of this package.
 *
 * They map over the fields of a struct, so that the comment of a field shows where a host uses the member. No name of
 * Effect is in them: what a host sees is plain TypeScript.
 */

/** A struct, as far as its types go. */
export interface Struct {
  readonly fields: object
  readonly Type: object
  readonly Encoded: object
}

/** Output type of a governor's method. */
export type Info<S extends Struct> = {
  readonly [Name in keyof S["fields"]]: Name extends keyof S["Type"] ? S["Type"][Name] : never
}

/**
 * Input type of a governor's method, before defaults and conversion to UTC. A member that may be left out may also be
 * undefined.
 */
export type Input<S extends Struct> = Members<S["fields"], S["Encoded"]>

/** Filter type of a governor's list method. Numbers are numbers here; they are text in a query of HTTP. */
export type Filter<S extends Struct> = Members<S["fields"], S["Type"]>

type Members<Fields extends object, T> = {
  readonly [Name in keyof Fields as Name extends RequiredKeys<T> ? Name : never]: OrUndefined<T[Name & keyof T]>
} & {
  readonly [Name in keyof Fields as Name extends RequiredKeys<T> ? never : Name]?:
    | OrUndefined<T[Name & keyof T]>
    | undefined
}

type RequiredKeys<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? never : Name }[keyof T]

/** The same for the members of members. */
type OrUndefined<T> =
  T extends ReadonlyArray<infer Item>
    ? ReadonlyArray<OrUndefined<Item>>
    : T extends object
      ? { readonly [Name in keyof T]: OrUndefined<T[Name]> | (object extends Pick<T, Name> ? undefined : never) }
      : T

/** A schema whose plain type has a name: what a host's editor shows in place of all members. Only a type. */
export interface Named<T> {
  readonly "~plain": T
}

/** Names the plain type of a schema. It is the input type of a body, and the output type of a success. */
export const named =
  <T>() =>
  <S>(schema: S): S & Named<T> =>
    schema as S & Named<T>

/** Input type of the schema of a body: its name, or the members of the struct or list. */
export type InputOf<S> =
  S extends Named<infer T>
    ? T
    : S extends Struct
      ? Flat<Input<S>>
      : S extends { readonly value: infer Item; readonly Encoded: ReadonlyArray<unknown> }
        ? ReadonlyArray<InputOf<Item>>
        : S extends { readonly Encoded: infer E }
          ? E
          : never

/** Output type of the schema of a success: its name, or the members of the struct or list. */
export type InfoOf<S> =
  S extends Named<infer T>
    ? T
    : S extends Struct
      ? Info<S>
      : S extends { readonly value: infer Item; readonly Type: ReadonlyArray<unknown> }
        ? ReadonlyArray<InfoOf<Item>>
        : S extends { readonly Type: infer T }
          ? T
          : never

/** The members of an intersection as one object. */
export type Flat<T> = T extends infer O ? { [Name in keyof O]: O[Name] } : never
