import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeServerDate } from '@/lib/server-clock';
import { Answered } from './answered';
import { Observed } from './observed';

const hourMs = 3_600_000;

function setServerAhead(aheadMs: number): void {
  observeServerDate(new Date(Date.now() + aheadMs).toUTCString());
}

beforeEach(() => setServerAhead(hourMs));
afterEach(() => setServerAhead(0));

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
