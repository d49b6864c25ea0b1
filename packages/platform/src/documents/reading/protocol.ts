/**
 * Messages between the host and a child that reads documents. What a child says is decoded as if a stranger said it: a
 * hostile file may have taken it over. Spec: document 2 sections 2 and 6, "extraction".
 */
import { documentWarnings, extractionFailures } from "@flyball/rules"
import { Schema } from "effect"

/** The longest document. Unit: bytes. */
export const MAX_BYTES = 50 * 1024 * 1024

/** From the host: a piece of the document's bytes; its end, with the media type that the caller stated. */
export type Said = { readonly part: Uint8Array } | { readonly read: string }

const Length = Schema.Int.check(Schema.isBetween({ minimum: -10_000_000, maximum: 10_000_000 }))
const Text = (longest: number) => Schema.String.check(Schema.isMaxLength(longest))

const Item = Schema.Struct({
  text: Text(4_000),
  x: Length,
  y: Length,
  width: Length,
  height: Length,
  hidden: Schema.NullOr(Schema.Literals(["render_mode", "white", "small", "outside"]))
})

/** From the child: a page begins; items of it; the document's end; or why it was not read. */
export const Heard = Schema.Union([
  Schema.Struct({ width: Length, height: Length }),
  Schema.Struct({ items: Schema.Array(Item).check(Schema.isMaxLength(500)) }),
  Schema.Struct({
    xml: Schema.Array(Schema.Struct({ name: Text(255), text: Text(5_000_000) })).check(Schema.isMaxLength(4)),
    warnings: Schema.Array(Schema.Struct({ code: Schema.Literals(documentWarnings) })).check(Schema.isMaxLength(10))
  }),
  Schema.Struct({ failed: Schema.Literals(extractionFailures) }),
  Schema.Struct({ resident: Schema.Finite })
])
export type Heard = typeof Heard.Type
