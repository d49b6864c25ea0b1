/** A product over a governor's mechanisms, which a host installs: modules that the governor itself does not have. */

/**
 * A product, installed with `openGovernor({ capabilities })`. Its services see the governor's, and the store in which
 * what they commit reaches webhooks, breakers and checkpoints as the governor's own commits do. Spec: platform
 * section 9.
 */
export interface Capability {
  readonly name: string
  /** The values of `defineModule`. Plain here, so that hosts without Effect see nothing of it. */
  readonly modules: ReadonlyArray<object>
}
