import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { renderConsole } from '@/testing/render-console';

async function fillIn(password: string) {
  const user = userEvent.setup();
  await user.type(await screen.findByLabelText('Name'), 'admin');
  await user.type(screen.getByLabelText('Password'), password);
  await user.click(screen.getByRole('button', { name: 'Sign in' }));
}

test('without a session every page leads to the sign-in page and back', async () => {
  const { address } = renderConsole('/topics?kind=RETRY', { signedIn: false });

  await fillIn('secret');

  expect(await screen.findByRole('heading', { name: 'Topics' })).toBeVisible();
  expect(address()).toBe('/topics?kind=RETRY');
});

test('a wrong password is refused in plain words', async () => {
  const { address } = renderConsole('/sign-in', { signedIn: false });

  await fillIn('guess');

  expect(await screen.findByRole('alert')).toHaveTextContent('Name or password is wrong');
  expect(address()).toBe('/sign-in');
});

test('a control plane that does not answer is told apart from a wrong password', async () => {
  renderConsole('/sign-in', { signedIn: false });
  await screen.findByLabelText('Name');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('network')));

  await fillIn('secret');

  expect(await screen.findByRole('alert')).toHaveTextContent('did not answer');
});

test('signing out ends the session', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/');

  await user.click(await screen.findByRole('button', { name: 'Account of admin' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Sign out' }));

  await waitFor(() => expect(address()).toBe('/sign-in'));
});
