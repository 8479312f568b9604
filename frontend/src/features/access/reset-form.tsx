import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import classes from './access-form.module.css';
import { resetPassword } from './access-queries';
import { SecretOnce } from './secret-once';

type ResetFormProps = { name: string; onDone: () => void };

/** Replaces a user's password by a one-time password, and shows that only once. */
export function ResetForm({ name, onDone }: ResetFormProps) {
  const { t } = useTranslation();
  const reset = useMutation(resetPassword(useQueryClient()));
  const invited = reset.data?.data.invited;
  if (invited) {
    return (
      <SecretOnce
        label={t('users.password', { name })}
        secret={invited.password}
        hint={t('users.passwordHint')}
        onDone={onDone}
      />
    );
  }
  return (
    <div className={classes.form}>
      {reset.error ? <ErrorNotice error={reset.error} onRetry={() => reset.mutate(name)} /> : null}
      <p className={classes.lead}>{t('userDeed.reset.lead', { name })}</p>
      <div className={classes.end}>
        <Button onClick={() => reset.mutate(name)} loading={reset.isPending} data-autofocus>
          {t('userDeed.reset.do')}
        </Button>
      </div>
    </div>
  );
}
