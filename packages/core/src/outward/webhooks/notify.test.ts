import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { systemHost } from "../../foundation/writer.ts"
import { hooks } from "./testing/webhook-acts.ts"
import { outside, webhookWorld } from "./testing/webhook-world.ts"

describe("the creator of a webhook", () => {
  it.effect.each(["ops@münchen.de", "a..b@example.com", `${"a".repeat(65)}@example.com`, "a@-x_y.com"])(
    "as %s is written to at the alert address: no letter reaches that",
    (claim) =>
      Effect.gen(function* () {
        const made = yield* hooks(({ create }) =>
          create({ url: "https://a.example/", events: ["key.minted"] }, systemHost, claim)
        )
        assert.strictEqual(made.notify_email, "night@example.org")
      }).pipe(Effect.provide(webhookWorld(outside(), { alertEmail: "night@example.org" })))
  )
})
