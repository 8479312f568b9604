import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { aBody, aMessageDetail } from '@/testing/message-builders';
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

test('a control plane that does not answer is distinguished from a wrong password', async () => {
  renderConsole('/sign-in', { signedIn: false });
  await screen.findByLabelText('Name');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('network')));

  await fillIn('secret');

  expect(await screen.findByRole('alert')).toHaveTextContent('did not answer');
});

test('who signs in next is shown nothing that was answered before', async () => {
  const next = '/messages/7F00000100002A9F0000000000000000';
  const { calls, router } = renderConsole(next, {
    answers: {
      Message: () => ({ message: aMessageDetail() }),
      MessageBody: () => aBody(),
    },
  });
  await screen.findByText('{ "amount": 3 }');

  await act(() => router.navigate({ to: '/sign-in', search: { next } }));
  await fillIn('secret');

  expect(await screen.findByText('{ "amount": 3 }')).toBeVisible();
  expect(calls.filter(({ operation }) => operation === 'MessageBody')).toHaveLength(2);
});

async function signOut() {
  const user = userEvent.setup();
  await user.click(await screen.findByRole('button', { name: 'Account of admin' }));
  await user.click(await screen.findByRole('menuitem', { name: 'Sign out' }));
}

test('signing out ends the session', async () => {
  const { address } = renderConsole('/');

  await signOut();

  await waitFor(() => expect(address()).toBe('/sign-in'));
});

/** Has each attempt to end the session fail. */
function failSignOut(attempt: () => Promise<Response>): void {
  const answer = fetch;
  vi.stubGlobal('fetch', (path: string, init: RequestInit = {}) =>
    init.method === 'DELETE' ? attempt() : answer(path, init),
  );
}

test('a failed sign-out is shown, and the user stays', async () => {
  const { address } = renderConsole('/topics');
  failSignOut(() => Promise.reject(new TypeError('network')));

  await signOut();

  const dialog = await screen.findByRole('dialog', { name: 'You may still be signed in' });
  expect(within(dialog).getByRole('alert')).toHaveTextContent('out of reach');
  expect(address()).toBe('/topics');
});

test('a session that has ended already is left like any other', async () => {
  const { address, queryClient } = renderConsole('/topics');
  await screen.findByRole('heading', { name: 'Topics' });
  failSignOut(async () => new Response(null, { status: 401 }));

  await signOut();

  await waitFor(() => expect(address()).toBe('/sign-in'));
  expect(queryClient.getQueryCache().getAll()).toEqual([]);
});
