import { Button, Select, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import type { UserFieldsFragment } from '@/gql/operations';
import classes from './access-form.module.css';
import { changeUser, type UserDeed } from './access-queries';
import { PatternsField } from './patterns-field';
import { patternsIn, roles } from './roles';

const reasonLengthMax = 500;

type UserDeedFormProps = {
  user: UserFieldsFragment;
  deed: UserDeed['deed'];
  onDone: () => void;
};

/** Gives a user another role, disables or enables the user; the audit records the reason. */
export function UserDeedForm({ user, deed, onDone }: UserDeedFormProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const options = changeUser(client);
  const change = useMutation({
    ...options,
    onSuccess: () => {
      void options.onSuccess();
      onDone();
    },
  });
  const { name, version } = user;
  const [role, setRole] = useState(user.role);
  const [patterns, setPatterns] = useState(user.clusterPatterns.join(', '));
  const [reason, setReason] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const clusterPatterns = patternsIn(patterns);
    change.mutate(
      deed === 'role'
        ? { deed, name, role, clusterPatterns, reason, version }
        : { deed, name, reason },
    );
  };
  return (
    <form className={classes.form} onSubmit={submit}>
      {change.error ? (
        <ErrorNotice
          error={change.error}
          onRetry={() => change.variables && change.mutate(change.variables)}
        />
      ) : null}
      <p className={classes.lead}>{t(`userDeed.${deed}.lead`, { name })}</p>
      {deed === 'role' ? (
        <>
          <Select
            label={t('users.role')}
            description={t(`roleHint.${role}`)}
            data={roles.map((one) => ({ value: one, label: t(`userRole.${one}`) }))}
            value={role}
            onChange={(one) => setRole(roles.find((known) => known === one) ?? role)}
            allowDeselect={false}
            data-autofocus
          />
          <PatternsField value={patterns} onChange={setPatterns} />
        </>
      ) : null}
      <TextInput
        label={t('confirm.reason')}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        maxLength={reasonLengthMax}
        autoComplete="off"
      />
      <div className={classes.end}>
        <Button
          type="submit"
          loading={change.isPending}
          color={deed === 'disable' ? 'red' : 'teal'}
        >
          {t(`userDeed.${deed}.do`)}
        </Button>
      </div>
    </form>
  );
}
