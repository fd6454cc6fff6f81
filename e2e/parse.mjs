// Reads workflows, and an action.yml, as GitHub does, and prints what it finds
// wrong: node parse.mjs FILE...
import { readFileSync } from 'node:fs'
import { register } from 'node:module'
import { basename } from 'node:path'

// The parser is written for bundlers, which take JSON without being told so.
const jsonToo = `export async function resolve(name, context, next) {
  const found = await next(name, context)
  return found.url.endsWith('.json') ? { ...found, importAttributes: { type: 'json' } } : found
}`
register('data:text/javascript,' + encodeURIComponent(jsonToo))

const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser')
const { convertActionTemplate, parseAction } = await import('@actions/workflow-parser/actions/index')

const trace = new NoOperationTraceWriter()
let found = 0

for (const path of process.argv.slice(2)) {
  const file = { name: path, content: readFileSync(path, 'utf8') }
  const isAction = basename(path) === 'action.yml'
  const { context, value } = isAction ? parseAction(file, trace) : parseWorkflow(file, trace)
  if (value !== undefined) {
    // Some mistakes show only here.
    await (isAction ? convertActionTemplate(context, value) : convertWorkflowTemplate(context, value))
  }
  for (const error of context.errors.getErrors()) {
    console.log(`${path}: ${error.message}`)
    found++
  }
}
process.exit(found === 0 ? 0 : 1)
