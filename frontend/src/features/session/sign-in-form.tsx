import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Notice } from '@/components/notice';
import { ApiError } from '@/lib/api-error';
import { type Credentials, signIn } from './session-queries';
import classes from './sign-in-form.module.css';

const explained = new Set(['unauthenticated', 'too_many_requests', 'unreachable']);

function reasonOf(error: Error): string {
  if (!(error instanceof ApiError)) return 'internal';
  if (error.status === 401) return 'unauthenticated';
  if (error.status === 429) return 'too_many_requests';
  return explained.has(error.code) ? error.code : 'internal';
}

/** Asks for name and password, and says plainly why it did not let someone in. */
export function SignInForm({ onSignedIn }: { onSignedIn: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const password = useRef<HTMLInputElement>(null);
  const attempt = useMutation({
    mutationFn: (credentials: Credentials) => signIn(client, credentials),
    onSuccess: onSignedIn,
    onError: () => password.current?.select(),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    attempt.mutate({
      name: String(fields.get('name')),
      password: String(fields.get('password')),
    });
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      {attempt.error ? (
        <Notice tone="bad" title={t(`signIn.refused.${reasonOf(attempt.error)}.title`)}>
          {t(`signIn.refused.${reasonOf(attempt.error)}.next`)}
        </Notice>
      ) : null}
      <TextInput
        size="sm"
        name="name"
        label={t('signIn.name')}
        autoComplete="username"
        autoFocus
        required
        withAsterisk={false}
      />
      <PasswordInput
        ref={password}
        name="password"
        label={t('signIn.password')}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword'), tabIndex: 0 }}
        required
        withAsterisk={false}
      />
      <Button type="submit" size="sm" loading={attempt.isPending} fullWidth>
        {t('signIn.submit')}
      </Button>
    </form>
  );
}
