import { act, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noteHeard, setStreamState } from '@/lib/live/stream-state';
import { observeServerDate } from '@/lib/server-clock';
import { Answered } from './answered';
import { Observed } from './observed';

const hourMs = 3_600_000;

function setServerAhead(aheadMs: number): void {
  observeServerDate(new Date(Date.now() + aheadMs).toUTCString());
}

beforeEach(() => setServerAhead(hourMs));
afterEach(() => {
  setServerAhead(0);
  setStreamState({ kind: 'connecting' });
});

test('an answer that just came is not stale, however wrong the clock of the browser is', () => {
  render(<Answered atMs={Date.now()} />);

  expect(screen.getByText('observed 0 s ago')).toBeVisible();
});

test('what the control plane observed is as old as its own clock says', () => {
  render(<Observed atMs={Date.now() + hourMs - 10_000} />);

  expect(screen.getByText(/^observed (9|10) s ago$/)).toBeVisible();
});

test('an answer that has not come yet has no age', () => {
  const { container } = render(<Answered atMs={0} />);

  expect(container).toBeEmptyDOMElement();
});

test('a quiet page is not stale while its data is live, although nothing draws it again', () => {
  // Case B12: it turned to "stale since" after 15 s.
  vi.useFakeTimers();
  setStreamState({ kind: 'live' });
  render(<Answered atMs={Date.now()} followed />);

  for (let spentS = 0; spentS < 40; spentS += 2) {
    act(() => {
      vi.advanceTimersByTime(2_000);
      noteHeard();
    });
  }

  expect(screen.getByText(/^observed [0-2] s ago$/)).toBeVisible();
  vi.useRealTimers();
});

test('a quiet page is stale as soon as the connection is gone', () => {
  // Case B12.
  vi.useFakeTimers();
  setStreamState({ kind: 'live' });
  render(<Answered atMs={Date.now() - 1_000} followed />);

  act(() => setStreamState({ kind: 'reconnecting', sinceMs: Date.now() }));

  expect(screen.getByText(/^stale since/)).toBeVisible();
  vi.useRealTimers();
});
