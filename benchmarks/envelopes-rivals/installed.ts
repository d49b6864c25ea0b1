/** A package of this folder, with the part of it that is used here. */
export const installed = async <A>(name: string): Promise<A> => {
  const loaded: A = await import(name)
  return loaded
}
