import React from 'react';
import { flushSync } from 'react-dom';

// A test may replace the clock, and drawing goes on by the real one.
const { setImmediate, setTimeout } = globalThis;

/** Lets what waits for its turn run: answers to queries wait for a timer, React for an immediate. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function settled<T>(result: T | Promise<T>): Promise<T> {
  const value = await result;
  await settle();
  return value;
}

/** What `act` of React's development build does: all that the callback changes is drawn at its end. */
function act<T>(callback: () => T | Promise<T>): PromiseLike<T> {
  const result = flushSync(callback);
  // biome-ignore lint/suspicious/noThenProperty: the caller may await it, and nothing is to wait if not.
  return { then: (resolve, reject) => settled(result).then(resolve, reject) };
}

// The production build has none, and Testing Library takes it from there when it is loaded.
Object.assign(React, { act });
