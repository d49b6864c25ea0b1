/**
 * The vectors of postel that are not run against our code, each with the reason. A vector that is neither run nor here
 * fails the test.
 */

const V1A =
  "signatures with Ed25519 (v1a) are not sent: each webhook has a secret of its own, and the receiver's key " +
  "proves as much to it"
const JWKS = "no public keys of webhooks are published: signatures are HMAC"
const DEDUP =
  "what a receiver remembers is its own business: ours is given by `webhook-id` and `webhook-sequence`, and " +
  "`verifyDelivery` keeps nothing"
const OWN_SCHEDULE =
  "a schedule of the endpoint's own: ours is the specification's for all, shown by " +
  "`property-tests/src/webhooks/schedule.test.ts`"
const OWN_DEADLINE =
  "a time limit of the endpoint's own: ours is the specification's 5 s for all, shown by " +
  "`packages/node/src/webhooks/post.test.ts`"
const EVERY_STATUS = "every answer but 2xx is retried, as the specification says: decision 0019"
const GLOB =
  "types are named whole, and a pattern is refused with 422; that others are not sent is shown by " +
  "`apps/server/src/webhook-tests/webhooks.test.ts`"
const CHANNELS =
  "there are no channels: the org unit decides who may see an event, and webhooks are for administrators of " +
  "all of them"
const TTL = "an event does not grow old: it is owed until its seventh attempt"
const KEYS_OF_SENDS =
  "events are not sent by a call that could come twice: they are part of the commit that caused them"

/** Why a vector is left out, by its id. */
export const leftOut: { readonly [id: string]: string } = {
  "signature-v1a/future-timestamp": V1A,
  "signature-v1a/missing-signature": V1A,
  "signature-v1a/past-timestamp": V1A,
  "signature-v1a/replay-outside-window": V1A,
  "signature-v1a/replay-within-window": V1A,
  "signature-v1a/tampered-body": V1A,
  "signature-v1a/valid": V1A,
  "signature-v1a/wrong-key": V1A,
  "sender/wire-output/ed25519-v1a-byte-stable": V1A,
  "jwks/kid-lookup": JWKS,
  "jwks/public-only": JWKS,
  "jwks/rotation": JWKS,
  "signature-v1/replay-within-window": DEDUP,
  "receiver/dedup/concurrent-atomicity": DEDUP,
  "receiver/dedup/duplicate-receipt": DEDUP,
  "sender/dead-letter/attempt-status-casing": `${EVERY_STATUS}; states are in snake_case, as specified`,
  "sender/dead-letter/exhaustion-marks-dead-letter": OWN_SCHEDULE,
  "sender/deadlines/overall-deadline-respected": OWN_DEADLINE,
  "sender/deadlines/per-request-timeout": OWN_DEADLINE,
  "sender/fanout/fanout-with-exhaustion": OWN_SCHEDULE,
  "sender/fanout/filtered-endpoint-no-dispatch": GLOB,
  "sender/fanout/late-binding-new-endpoint":
    "the receivers are decided in the commit that caused the event, so that it can be proved: decision 0019",
  "sender/filtering/channel-filter-match": CHANNELS,
  "sender/filtering/channel-filter-no-match": CHANNELS,
  "sender/filtering/type-filter-glob-match": GLOB,
  "sender/filtering/type-filter-glob-no-match": GLOB,
  "sender/idempotency/distinct-keys-distinct-dispatch": KEYS_OF_SENDS,
  "sender/idempotency/duplicate-key-no-dispatch": KEYS_OF_SENDS,
  "sender/multi-tenancy/tenant-scoped-fanout": "one store has one tenant",
  "sender/retry-schedule/4xx-no-retry": EVERY_STATUS,
  "sender/retry-schedule/5xx-then-success": OWN_SCHEDULE,
  "sender/retry-schedule/programmable-schedule": OWN_SCHEDULE,
  "sender/retry-schedule/retry-after-honored":
    `${OWN_SCHEDULE}; \`Retry-After\` counts only with ` +
    `\`followRetryAfter\`, never shortens a delay, and is read as ` +
    `\`fixtures/vectors/webhooks/retry-after.json\` says`,
  "sender/ttl/expired-message-skipped": TTL,
  "sender/ttl/fresh-message-delivers": TTL,
  "sender/wire-output/custom-headers-emitted":
    "an endpoint has no headers of its own: what a receiver knows us by is the signature"
}
