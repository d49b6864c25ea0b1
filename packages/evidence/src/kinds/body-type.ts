/** Types of bodies, read from the rows of the catalogue: nobody writes them a second time. */
import type { MemberType } from "./members.ts"
import type { BodyMember } from "./row.ts"

/** Type of an object with these members. */
export type BodyOf<Members extends ReadonlyArray<BodyMember>> = {
  readonly [M in Extract<Members[number], { readonly required: true }> as M["name"]]: ValueOf<M["type"]>
} & {
  readonly [M in Extract<Members[number], { readonly required: false }> as M["name"]]?: ValueOf<M["type"]>
}

type ValueOf<T extends MemberType> = T extends { readonly type: "enum" }
  ? T["values"][number]
  : T extends { readonly type: "integer" }
    ? number
    : T extends { readonly type: "boolean" }
      ? boolean
      : T extends { readonly type: "list" }
        ? ReadonlyArray<ValueOf<T["of"]>>
        : T extends { readonly type: "object" }
          ? BodyOf<T["members"]>
          : string
