/** Text files that the bundler puts into the program. */
declare module "*.txt" {
  const text: string
  export default text
}
