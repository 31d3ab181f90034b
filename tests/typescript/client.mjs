// Plays a job with the TypeScript SDK's client: reads it from stdin as JSON, writes what happened to stdout as JSON.
//
// A job is {server, version, sessions}: the server is {url} or {command, args, env}, and the version a revision of the
// protocol, or `auto`. A session is {capabilities, calls}, and a call {method, params, answers}, with answers by what
// `nameOf` calls a question. The outcome of a call is {asked, progress, logs} and a result or an error.
// test_python_client.py does the same with the Python SDK's client.

import { readFileSync } from 'node:fs';

import { Client, LOG_LEVEL_META_KEY, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const TIMEOUT = 10_000; // milliseconds, for one request

function nameOf({ method, params }) {
    if (method === 'roots/list') return 'roots';
    if (method === 'elicitation/create') return params.message;
    const [block] = [params.messages.at(-1).content].flat();
    return block.type === 'tool_result' ? block.content[0].text : block.text;
}

const progressOf = ({ progress, total, message }) => ({ progress, total, message });

async function play(client, { method, params, answers }, heard) {
    const outcome = { asked: [], progress: [], logs: [] };
    heard.outcome = outcome;
    heard.answers = answers;
    const modern = client.getProtocolEra() === 'modern';
    const asking = modern ? { ...params, _meta: { [LOG_LEVEL_META_KEY]: 'info' } } : params;
    const options = {
        timeout: TIMEOUT,
        // The client itself reports each round that it answers; that is no message of the server's.
        onprogress: told =>
            told.message?.startsWith('Fulfilling input required by') || outcome.progress.push(progressOf(told))
    };
    const send = {
        'tools/call': () => client.callTool(asking, options),
        'prompts/get': () => client.getPrompt(asking, options),
        'resources/read': () => client.readResource(asking, options)
    };
    try {
        outcome.result = await send[method]();
    } catch (error) {
        if (!(error instanceof ProtocolError)) throw error;
        outcome.error = { code: error.code, message: error.message, data: error.data };
    }
    return outcome;
}

/** The options of a client that speaks one revision, or by itself takes the newest that it can have. */
function speaking(version) {
    if (version === 'auto') return { versionNegotiation: { mode: 'auto' } };
    if (version < '2026-07-28') return { supportedProtocolVersions: [version] };
    return { versionNegotiation: { mode: { pin: version } } };
}

async function session(server, version, { capabilities, calls }) {
    const client = new Client({ name: 'typescript', version: '1' }, { capabilities, ...speaking(version) });
    const heard = {};
    let closing = false;
    client.onerror = error => {
        // The client forgets a call's token as soon as it reads the result, so what it read together with the result is
        // an error to it (https://github.com/modelcontextprotocol/typescript-sdk/issues/2580). It was sent in time.
        const [, late] = /^Received a progress notification for an unknown token: (.*)/.exec(error.message) ?? [];
        if (!late && !closing) throw error;
        if (late) heard.outcome.progress.push(progressOf(JSON.parse(late).params));
    };
    const handle = ({ method, params }) => {
        const { _meta, ...shown } = params ?? {};
        heard.outcome.asked.push({ method, params: shown });
        const name = nameOf({ method, params });
        if (!(name in heard.answers)) throw new Error(`there is no answer to ${name}`);
        return heard.answers[name];
    };
    if (capabilities.elicitation) client.setRequestHandler('elicitation/create', handle);
    if (capabilities.sampling) client.setRequestHandler('sampling/createMessage', handle);
    if (capabilities.roots) client.setRequestHandler('roots/list', handle);
    client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) => {
        heard.outcome.logs.push({ level, logger, data });
    });

    const transport = server.url
        ? new StreamableHTTPClientTransport(new URL(server.url))
        : new StdioClientTransport({ ...server, stderr: 'inherit' });
    await client.connect(transport, { timeout: TIMEOUT });
    try {
        const { tools } = await client.listTools(); // from now on the client holds results against their schemas
        const { prompts } = await client.listPrompts();
        const { resourceTemplates } = await client.listResourceTemplates();
        if (client.getProtocolEra() === 'legacy') await client.setLoggingLevel('info');
        const outcomes = [];
        for (const call of calls) outcomes.push(await play(client, call, heard));
        const { name } = client.getServerVersion();
        const listed = {
            tools: tools.map(tool => tool.name),
            prompts: prompts.map(prompt => prompt.name),
            resources: resourceTemplates.map(template => template.uriTemplate)
        };
        closing = true; // its stream may now end
        if (transport.sessionId) await transport.terminateSession();
        return { version: client.getNegotiatedProtocolVersion(), server: name, listed, outcomes };
    } finally {
        await client.close();
    }
}

const { server, version, sessions } = JSON.parse(readFileSync(0, 'utf8'));
const played = [];
for (const each of sessions) played.push(await session(server, version, each));
process.stdout.write(JSON.stringify(played));
