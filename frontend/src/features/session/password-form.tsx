import { Button, PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { replacePassword } from './session-queries';
import classes from './sign-in-form.module.css';

export const passwordLengthMin = 12;

type Given = { oldPassword: string; newPassword: string; again: string };

/** Replaces one's own password; what is wrong with the new one is said before it is sent. */
export function PasswordForm({ onReplaced }: { onReplaced: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const replace = useMutation({
    mutationFn: (given: Given) => replacePassword(client, given.oldPassword, given.newPassword),
    onSuccess: onReplaced,
  });
  const [given, setGiven] = useState<Given>({ oldPassword: '', newPassword: '', again: '' });
  const [isTried, setIsTried] = useState(false);
  const wrong: Partial<Record<keyof Given, string>> = {
    ...(given.oldPassword === '' ? { oldPassword: t('problem.empty') } : {}),
    ...(given.newPassword.length < passwordLengthMin
      ? { newPassword: t('password.short', { min: passwordLengthMin }) }
      : {}),
    ...(given.again === given.newPassword ? {} : { again: t('password.differs') }),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setIsTried(true);
    if (Object.keys(wrong).length === 0) replace.mutate(given);
  };
  const fields = [
    ['oldPassword', 'current-password'],
    ['newPassword', 'new-password'],
    ['again', 'new-password'],
  ] as const;
  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      {replace.error ? (
        <ErrorNotice
          error={replace.error}
          onRetry={() => replace.variables && replace.mutate(replace.variables)}
        />
      ) : null}
      {fields.map(([name, autoComplete], index) => (
        <PasswordInput
          key={name}
          label={t(`password.${name}`)}
          value={given[name]}
          onChange={(event) => setGiven({ ...given, [name]: event.currentTarget.value })}
          error={isTried ? wrong[name] : undefined}
          autoComplete={autoComplete}
          visibilityToggleButtonProps={{ 'aria-label': t('signIn.showPassword'), tabIndex: 0 }}
          autoFocus={index === 0}
          required
          withAsterisk={false}
        />
      ))}
      <Button type="submit" size="sm" loading={replace.isPending} fullWidth>
        {t('password.replace')}
      </Button>
    </form>
  );
}
