// SPDX-License-Identifier: Apache-2.0

// Package compattest makes what integrations of other services make, for tests. Nothing that is shipped makes such tokens.
package compattest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the form that integrations write
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const keySize = 32

// Token is what an integration signs: claims of a payload that is encrypted. A lifetime of zero leaves the end out.
func Token(t testing.TB, secret string, made time.Time, payload map[string]any, lifetime time.Duration) string {
	t.Helper()
	plain, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{"data": Encrypt(t, string(plain), secret), "iat": made.Unix()}
	if lifetime != 0 {
		claims["exp"] = made.Add(lifetime).Unix()
	}
	return Sign(t, claims, secret)
}

// Sign makes a JWT of claims.
func Sign(t testing.TB, claims jwt.MapClaims, secret string) string {
	t.Helper()
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// Encrypt writes a text as CryptoJS.AES.encrypt does with a passphrase.
func Encrypt(t testing.TB, plain, secret string) string {
	t.Helper()
	salt := make([]byte, 8)
	_, _ = rand.Read(salt) // It never fails: crypto/rand ends the program first.
	var derived, last []byte
	for len(derived) < keySize+aes.BlockSize {
		sum := md5.Sum([]byte(string(last) + secret + string(salt))) //nolint:gosec // see above
		last = sum[:]
		derived = append(derived, last...)
	}
	block, err := aes.NewCipher(derived[:keySize])
	if err != nil {
		t.Fatal(err)
	}
	padding := aes.BlockSize - len(plain)%aes.BlockSize
	padded := []byte(plain + strings.Repeat(string(rune(padding)), padding))
	cipher.NewCBCEncrypter(block, derived[keySize:keySize+aes.BlockSize]).CryptBlocks(padded, padded)
	return base64.StdEncoding.EncodeToString(append([]byte("Salted__"+string(salt)), padded...))
}
