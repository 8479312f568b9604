import { vi } from 'vitest';

type Frame = { id?: string; type: string; payload?: unknown };

/** A WebSocket that speaks the server's side of graphql-transport-ws at the command of a test. */
export class FakeSocket extends EventTarget {
  static last: FakeSocket | undefined;
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readyState = FakeSocket.CONNECTING;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number; reason: string; wasClean: boolean }) => void) | null = null;
  onerror: ((event: unknown) => void) | null = null;
  private readonly subscriptions = new Map<string, string>();
  private readonly variables = new Map<string, unknown>();

  constructor() {
    super();
    FakeSocket.last = this;
    queueMicrotask(() => {
      this.readyState = FakeSocket.OPEN;
      this.onopen?.();
    });
  }

  send(text: string): void {
    const frame = JSON.parse(text) as Frame;
    if (frame.type === 'connection_init') this.answer({ type: 'connection_ack' });
    if (frame.type === 'ping') this.answer({ type: 'pong' });
    if (frame.type === 'subscribe' && frame.id) {
      const payload = frame.payload as { operationName: string; variables: unknown };
      this.subscriptions.set(payload.operationName, frame.id);
      this.variables.set(payload.operationName, payload.variables);
    }
  }

  /** Delivers data to the subscription of that name. */
  publish(operationName: string, data: unknown): void {
    const id = this.subscriptions.get(operationName);
    if (!id) throw new Error(`nobody subscribed to ${operationName}`);
    this.answer({ id, type: 'next', payload: { data } });
  }

  /** Ends the subscription of that name with an error. */
  refuse(operationName: string, code: string): void {
    const id = this.subscriptions.get(operationName) ?? '';
    this.subscriptions.delete(operationName);
    this.answer({ id, type: 'error', payload: [{ message: code, extensions: { code } }] });
  }

  /** What the subscription of that name was last asked for with. */
  variablesOf(operationName: string): unknown {
    return this.variables.get(operationName);
  }

  isSubscribedTo(operationName: string): boolean {
    return this.subscriptions.has(operationName);
  }

  close(code = 1006): void {
    if (this.readyState === FakeSocket.CLOSED) return;
    this.readyState = FakeSocket.CLOSED;
    this.onclose?.({ code, reason: '', wasClean: false });
  }

  private answer(frame: Frame): void {
    queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(frame) }));
  }
}

export function installFakeSocket(): void {
  FakeSocket.last = undefined;
  vi.stubGlobal('WebSocket', FakeSocket);
}
