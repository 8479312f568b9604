import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { aToken, aUser, page } from '@/testing/access-builders';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { renderConsole } from '@/testing/render-console';

test('a user is added, and the one-time password is shown this once', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/access', {
    answers: { AddUser: () => ({ invited: { password: 'one-time', user: aUser() } }) },
  });
  await user.click(await screen.findByRole('button', { name: 'Add a user…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Add a user' }));
  await user.click(dialog.getByRole('button', { name: 'Add' }));
  expect(dialog.getByText('Say something here')).toBeVisible();

  await user.type(dialog.getByLabelText('Name'), 'bela');
  await user.click(dialog.getByRole('button', { name: 'Add' }));

  expect(await dialog.findByLabelText('One-time password of bela')).toHaveValue('one-time');
  expect(calls.find(({ operation }) => operation === 'AddUser')?.variables).toEqual({
    name: 'bela',
    role: 'VIEWER',
    clusterPatterns: ['*'],
  });
  await user.click(dialog.getByRole('button', { name: 'I have it' }));
  await waitFor(() => expect(screen.queryByDisplayValue('one-time')).not.toBeInTheDocument());
});

test('a role is limited to clusters, and shown so', async () => {
  const user = userEvent.setup();
  const bela = aUser({ clusterPatterns: ['staging-*', 'test'] });
  const { calls } = renderConsole('/access', {
    answers: { ChangeUserRole: () => ({ user: bela }), Users: () => ({ users: page([bela]) }) },
  });
  expect(await screen.findByText('staging-*, test')).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Change the role of bela' }));
  const dialog = within(await screen.findByRole('dialog'));
  const clusters = dialog.getByLabelText('Clusters');
  expect(clusters).toHaveValue('staging-*, test');

  await user.clear(clusters);
  await user.type(clusters, 'east *-1');
  await user.click(dialog.getByRole('button', { name: 'Change the role' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'ChangeUserRole')?.variables).toEqual({
      name: 'bela',
      role: 'VIEWER',
      clusterPatterns: ['east', '*-1'],
      reason: null,
      version: bela.version,
    }),
  );
});

test('a role that another administrator has changed meanwhile is not written over', async () => {
  const user = userEvent.setup();
  let bela = aUser({ version: 'as it was read' });
  const { calls, queryClient } = renderConsole('/access', {
    answers: {
      Users: () => ({ users: page([bela]) }),
      ChangeUserRole: () => graphqlError('precondition_failed', 'the access of bela is another'),
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Change the role of bela' }));
  const dialog = within(await screen.findByRole('dialog'));

  bela = aUser({ version: 'as it is now', clusterPatterns: ['east'] });
  await act(() => queryClient.refetchQueries({ type: 'active' }));
  await user.click(dialog.getByRole('button', { name: 'Change the role' }));

  expect(await dialog.findByRole('alert')).toHaveTextContent('the access of bela is another');
  expect(calls.find(({ operation }) => operation === 'ChangeUserRole')?.variables).toMatchObject({
    version: 'as it was read',
  });
});

test('an administrator of some clusters sees their own sessions, no users, and which clusters', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/access?tab=users', { clusterLimits: [['east-*']] });

  expect(await screen.findByRole('table', { name: 'Sessions' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Account of admin' }));

  expect(await screen.findByText(/In the clusters east-\*/)).toBeVisible();
  expect(calls.some(({ operation }) => operation === 'Users')).toBe(false);
});

test('a change that is refused says why and changes nothing', async () => {
  const user = userEvent.setup();
  renderConsole('/access', {
    answers: {
      DisableUser: () => graphqlError('last_administrator', 'bela is the last administrator'),
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Disable bela' }));
  const dialog = within(await screen.findByRole('dialog'));

  await user.click(dialog.getByRole('button', { name: 'Disable' }));

  expect(await dialog.findByRole('alert')).toHaveTextContent(
    "The last administrator can't be removed",
  );
});

test('who is no administrator sees their own sessions and tokens, and no users', async () => {
  const { calls } = renderConsole('/access?tab=users', { role: 'operator' });

  expect(await screen.findByRole('table', { name: 'Sessions' })).toBeVisible();

  expect(screen.queryByRole('radio', { name: 'Users' })).not.toBeInTheDocument();
  expect(calls.find(({ operation }) => operation === 'OpenSessions')?.variables).toMatchObject({
    userName: 'admin',
  });
  expect(calls.some(({ operation }) => operation === 'Users')).toBe(false);
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a token reaches no further than its owner, and lives a year at most', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/access?tab=tokens', { role: 'operator' });
  await user.click(await screen.findByRole('button', { name: 'Make a token…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Make a token' }));
  await user.click(dialog.getByRole('combobox', { name: 'Role' }));
  expect(screen.getAllByRole('option').map((one) => one.textContent)).toEqual([
    'viewer',
    'operator',
  ]);
  await user.click(screen.getByRole('option', { name: 'operator' }));
  await user.type(dialog.getByLabelText('Name'), 'deploy');
  const days = dialog.getByLabelText('Days until it expires');
  await user.clear(days);
  await user.type(days, '366');
  await user.click(dialog.getByRole('button', { name: 'Make it' }));
  expect(dialog.getByText('From 1 to 365')).toBeVisible();

  await user.clear(days);
  await user.type(days, '7');
  await user.type(dialog.getByLabelText('Clusters'), 'staging-*, east');
  await user.click(dialog.getByRole('button', { name: 'Make it' }));

  expect(await dialog.findByLabelText('Token deploy')).toHaveValue('rgt_secret');
  expect(calls.find(({ operation }) => operation === 'CreateApiToken')?.variables.wanted).toEqual({
    name: 'deploy',
    role: 'OPERATOR',
    lifetimeDays: 7,
    clusterPatterns: ['staging-*', 'east'],
    isReadOnly: false,
  });
});

test.each([
  ['invalid_credentials', 401, 'The password is wrong'],
  ['too_many_attempts', 429, 'Too many attempts'],
])('a new password that is refused with %s stays, in plain words', async (code, status, words) => {
  const user = userEvent.setup();
  const { address } = renderConsole('/password');
  await user.type(await screen.findByLabelText('Present password'), 'a guess');
  await user.type(screen.getByLabelText('New password'), 'a long enough one');
  await user.type(screen.getByLabelText('New password once more'), 'a long enough one');
  const refusal = { code, status, detail: 'refused' };
  vi.stubGlobal('fetch', async () => new Response(JSON.stringify(refusal), { status }));

  await user.click(screen.getByRole('button', { name: 'Replace it' }));

  expect(await screen.findByRole('alert')).toHaveTextContent(words);
  expect(address()).toBe('/password');
});

test('a one-time password is replaced before any page is shown', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topics', { hasOneTimePassword: true });
  await screen.findByRole('heading', { name: 'Replace the password' });
  expect(address()).toBe('/password?next=%2Ftopics');

  await user.type(screen.getByLabelText('Present password'), 'one-time');
  await user.type(screen.getByLabelText('New password'), 'a long enough one');
  await user.click(screen.getByRole('button', { name: 'Replace it' }));
  expect(screen.getByText('The two passwords differ')).toBeVisible();
  await user.type(screen.getByLabelText('New password once more'), 'a long enough one');
  await user.click(screen.getByRole('button', { name: 'Replace it' }));

  expect(await screen.findByRole('heading', { name: 'Topics' })).toBeVisible();
});

test('the result of one token is not shown for another', async () => {
  const user = userEvent.setup();
  const tokens = ['deploy', 'backup'].map((name) => aToken({ id: name, name }));
  let answerDeploy: (answer: unknown) => void = () => undefined;
  const revoking = new Promise((resolve) => {
    answerDeploy = resolve;
  });
  const { queryClient } = renderConsole('/access?tab=tokens', {
    answers: {
      ApiTokens: () => ({ apiTokens: page(tokens) }),
      RevokeApiToken: ({ id }) =>
        id === 'deploy' ? revoking : graphqlError('conflict', 'not this one'),
    },
  });
  const dialogOf = (name: string) => screen.findByRole('dialog', { name: `Revoke ${name}` });
  const open = async (name: string) =>
    user.click(await screen.findByRole('button', { name: `Revoke ${name}` }));

  await open('deploy');
  await user.click(within(await dialogOf('deploy')).getByRole('button', { name: 'Revoke it' }));
  await user.keyboard('{Escape}');
  await open('backup');
  const backup = await dialogOf('backup');
  await act(async () => answerDeploy({ token: tokens[0] }));
  await waitFor(() => expect(queryClient.isMutating()).toBe(0));
  expect(backup).toBeVisible();
  await user.click(within(backup).getByRole('button', { name: 'Revoke it' }));
  expect(await within(backup).findByRole('alert')).toHaveTextContent('not this one');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await open('deploy');

  expect(within(await dialogOf('deploy')).queryByRole('alert')).toBeNull();
});
