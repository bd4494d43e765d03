// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const passwordKey = "password"

// secretText never shows in a log.
type secretText string

func (secretText) String() string   { return "(secret)" }
func (secretText) GoString() string { return "(secret)" }

// newPasswordRef names a Secret for a Meeting that has no UID yet. The name is random, so that a Meeting never meets
// the Secret of an earlier one that is still being collected.
func newPasswordRef(object string) *v1alpha1.SecretKeyReference {
	return &v1alpha1.SecretKeyReference{Name: object + "-" + rand.String(8), Key: passwordKey}
}

// presented is the password of a command. It is hashed once, and compared with what is stored once, however often the command looks
// again: each costs tens of milliseconds of a processor, and what waits for its turn must not count as an API server that is away.
type presented struct {
	turn  credential.Turn
	plain secretText
	// given says that the command names a password; an empty one is none.
	given bool
	hash  secretText
	// right is the result of the last comparison, which was with stored.
	right  bool
	stored secretText
	// ref names the Secret of the password for the Meeting owner.
	ref   *v1alpha1.SecretKeyReference
	owner types.UID
}

// passwordOf is the password of a backend's command.
func passwordOf(t *tenant.Tenant, plain *string) presented {
	return presented{turn: credential.Turn{Namespace: t.Namespace}, plain: secretText(ptr.Deref(plain, "")), given: plain != nil}
}

func (p *presented) isEmpty() bool { return p.plain == "" }

// refFor names the Secret of the password for a Meeting: the same one at each attempt and for every command, so that commands which set
// a password at once leave one Secret behind.
func (p *presented) refFor(m *v1alpha1.Meeting) *v1alpha1.SecretKeyReference {
	if p.owner != m.UID {
		sum := sha256.Sum256([]byte(m.UID))
		p.owner, p.ref = m.UID, &v1alpha1.SecretKeyReference{Name: fmt.Sprintf("%s-%x", m.Name, sum[:4]), Key: passwordKey}
	}
	return p.ref
}

// hashed is the form in which the password is stored. What is stored already, in the Secret of a Meeting that has ended, stays as it is: links
// of that Meeting stand for it.
func (p *presented) hashed(ctx context.Context) (secretText, error) {
	switch {
	case p.hash != "":
	case p.right && credential.IsPasswordHash(string(p.stored)):
		p.hash = p.stored
	case credential.IsPasswordHash(string(p.plain)):
		p.hash = p.plain
	default:
		hash, err := credential.HashPassword(ctx, p.turn, string(p.plain))
		if err != nil {
			return "", err
		}
		p.hash = secretText(hash)
	}
	return p.hash, nil
}

// matches compares the password with a stored one.
func (p *presented) matches(ctx context.Context, stored secretText) (_ bool, err error) {
	switch {
	case p.hash != "" && p.hash == stored: // This command wrote it.
		p.right = true
	case p.stored != stored:
		if p.right, err = credential.CheckPassword(ctx, p.turn, string(stored), string(p.plain)); err != nil {
			return false, err
		}
	}
	p.stored = stored
	return p.right, nil
}

// writePassword stores the hash in the Secret that the Meeting names, owned by it. A room whose Secret is not there
// yet lets no guest in. AlreadyExists is for a password that another has written.
func (s *Service) writePassword(ctx context.Context, m *v1alpha1.Meeting, password *presented) error {
	if password.isEmpty() {
		return nil
	}
	hash, err := password.hashed(ctx)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: m.Namespace,
			Name:      m.Spec.PasswordSecretRef.Name,
			Labels:    map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI, v1alpha1.LabelUsedBy: v1alpha1.UsedByMeeting},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(m, v1alpha1.GroupVersion.WithKind("Meeting")),
			},
		},
		Data: map[string][]byte{passwordKey: []byte(hash)},
	}
	return s.client.Create(ctx, secret)
}

// setPassword writes the password for a Meeting that has none, and names its Secret there. A Secret that is there already is of a command
// that sets a password too, or has failed: if it holds another password, the Meeting is looked at again, and if it has none still, the
// command takes a Secret of its own.
func (s *Service) setPassword(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, password *presented) error {
	m.Spec.PasswordSecretRef = password.refFor(m)
	err := s.writePassword(ctx, m, password)
	if !kube.AlreadyExists(err) {
		return err
	}
	if ok, err := s.checkPassword(ctx, t, m, password); ok && err == nil {
		return nil
	}
	password.ref = newPasswordRef(m.Name)
	return errStale
}

// provePassword is checkPassword for backends, who may set a password too: that of a Meeting which the API made, and
// whose Secret was never written because this or another replica stopped in between.
func (s *Service) provePassword(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, password *presented) (bool, error) {
	ok, err := s.checkPassword(ctx, t, m, password)
	unfinished := !meeting.Stands(m) && !meeting.Entered(m)
	if password.isEmpty() || kube.AnswerOf(err) != kube.Gone || !unfinished {
		return ok, err
	}
	if err := s.finish(ctx, m, password); err != nil {
		return false, err
	}
	// Of two who set it at once one was first.
	return s.checkPassword(ctx, t, m, password)
}

// finish writes the password of a Meeting that another command has left without one. The Meeting is written too, so that nobody deletes it who
// has not found the Secret a moment ago.
func (s *Service) finish(ctx context.Context, m *v1alpha1.Meeting, password *presented) error {
	if err := kube.IgnoreExisting(s.writePassword(ctx, m, password)); err != nil {
		return err
	}
	_, err := s.Update(ctx, m, func(m *v1alpha1.Meeting) error {
		delete(m.Annotations, v1alpha1.AnnotationPasswordRequested)
		return nil
	})
	return err
}

// PasswordMark is the mark of the password that a meeting has now, whoever has changed it; empty for a meeting without one. While the API
// server is away, it is what this replica read last.
func (s *Service) PasswordMark(ctx context.Context, t *tenant.Tenant, v meeting.View) (string, error) {
	m, err := s.current(t, v.UID)
	if err != nil || m.Spec.PasswordSecretRef == nil {
		return "", err
	}
	stored, err := s.readPassword(ctx, t, m)
	if err == nil {
		mark := t.Signer.PasswordMark(meeting.Lineage(m), string(stored))
		s.marks.Add(m.UID, mark)
		return mark, nil
	}
	if mark, ok := s.marks.Get(m.UID); ok {
		return mark, nil
	}
	return "", asFault(err)
}

// CheckPassword compares a password that was typed at a site with that of the meeting. A meeting without one takes any.
func (s *Service) CheckPassword(ctx context.Context, t *tenant.Tenant, v meeting.View, site netip.Prefix, password string) (bool, error) {
	m, err := s.current(t, v.UID)
	if err != nil {
		return false, err
	}
	ok, err := s.checkPassword(ctx, t, m, &presented{turn: credential.Turn{Namespace: t.Namespace, Site: site}, plain: secretText(password)})
	return ok, asFault(err)
}

func (s *Service) checkPassword(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting, password *presented) (bool, error) {
	if m.Spec.PasswordSecretRef == nil {
		return true, nil
	}
	stored, err := s.readPassword(ctx, t, m)
	if err != nil {
		return false, err
	}
	return password.matches(ctx, stored)
}

// hasPassword reports whether a password is that of an ended Meeting; two times none is the same.
func (s *Service) hasPassword(ctx context.Context, t *tenant.Tenant, ended *v1alpha1.Meeting, password *presented) (bool, error) {
	if ended.Spec.PasswordSecretRef == nil || password.isEmpty() {
		return ended.Spec.PasswordSecretRef == nil && password.isEmpty(), nil
	}
	return s.checkPassword(ctx, t, ended, password)
}

// readPassword reads the stored password of a Meeting. One whose Secret was never written, because a replica stopped in between, has that of
// the ended Meeting that it continues: that one is deleted only when the Secret is there.
func (s *Service) readPassword(ctx context.Context, t *tenant.Tenant, m *v1alpha1.Meeting) (secretText, error) {
	stored, err := s.readSecret(ctx, m)
	if kube.AnswerOf(err) != kube.Gone || meeting.IsOver(m) {
		return stored, err
	}
	last := s.directory.LastEnded(t, m.Spec.Room)
	if last == nil || last.Spec.PasswordSecretRef == nil || meeting.Lineage(last) != meeting.Lineage(m) {
		return stored, err
	}
	if stored, err = s.readSecret(ctx, last); err != nil {
		return "", err
	}
	return stored, s.finish(ctx, m, &presented{plain: stored})
}

func (s *Service) readSecret(ctx context.Context, m *v1alpha1.Meeting) (secretText, error) {
	ref := m.Spec.PasswordSecretRef
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var secret corev1.Secret
	err := s.client.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: ref.Name}, &secret)
	isAnswered := kube.IgnoreGone(err) == nil
	if err == nil {
		err = kube.MayBeUsed(&secret, v1alpha1.UsedByMeeting)
	}
	if err == nil && len(secret.Data[ref.Key]) == 0 {
		err = fmt.Errorf("secret %s has no key %s", ref.Name, ref.Key)
	}
	if isAnswered && err != nil {
		s.marks.Remove(m.UID) // Nobody knows the password any more.
	}
	if kube.AnswerOf(err) == kube.Refused {
		return "", asFault(err)
	}
	if err != nil {
		return "", fault.Unavailable("The room's password cannot be checked now; try again, and tell the operator if it stays").Because(err)
	}
	return secretText(secret.Data[ref.Key]), nil
}
